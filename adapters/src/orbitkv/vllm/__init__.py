"""OrbitKV as vLLM's KV connector. vLLM loads `orbitkv.vllm.connector`; nothing here imports vLLM before that."""
