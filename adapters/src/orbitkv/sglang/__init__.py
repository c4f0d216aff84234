"""OrbitKV as SGLang's external cache linker and as a HiCache storage backend. Nothing here imports SGLang by itself."""
