"""Models behind endpoints: OpenAI-compatible and Amazon Bedrock, with timeouts, retries and a circuit breaker. The
door is `endpoints.Endpoints`.
"""
