"""Qualification on a machine with a GPU: run.py runs it, pack makes what such a machine needs."""
