"""Graph: what is connected, around a document, a query or an entity, in communities, and by links."""

from pages.ui import identity
from pages.ui.graph import choosing, showing

me = identity.require("compare configurations")

choice = choosing.draw()
showing.draw(choice)
