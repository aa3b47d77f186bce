"""The verl-agent-export engine: exports a checkpoint of a verl-agent training to the Hugging Face format."""
