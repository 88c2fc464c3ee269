"""GPU Planner: which GPUs to buy, and how many, for an LLM workload."""

__version__ = "0.1.0"
