"""Pages on a GPU: the engine's side of staged copies.

Only the engine touches its pages. It gives the Manager a ring of staging slots (`ring`), the Manager's copy engine moves
whole extents between a slot and host memory, and a kernel that this process launches scatters the slot to the pages or
gathers them into it. Who may touch a slot is agreed on a board in shared memory (`board`), which a thread of this process
serves (`server`). Nothing is compiled here: the driver's library (`libcuda`) loads the kernels of `pages.ptx`.
"""
