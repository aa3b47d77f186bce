"""Why an evaluation cannot continue. The driver prints the class and the message as its last line."""


class PromptError(Exception):
    """A cause that another try within this attempt does not remove; the message names the remedy."""


class RefusedByEndpointError(PromptError):
    """The endpoint refuses the calls: no key, no credit, no permission, or a request that it does not take."""


class EndpointUnavailableError(PromptError):
    """The endpoint did not answer a call in all tries."""


class BudgetError(PromptError):
    """The next call might exceed the budget."""


class OtherPromptError(PromptError):
    """A recorded response belongs to another prompt."""
