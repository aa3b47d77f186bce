"""The prompt engine: plays evaluation games with a prompted model behind an OpenAI-compatible endpoint."""
