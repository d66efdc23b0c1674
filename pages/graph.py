"""Graph: what is connected, around a document, a query or an entity, in communities, and by links."""

from pages.ui import identity
from pages.ui.graph import choices, views

me = identity.require("explore the graph")

choice = choices.draw()
views.draw(choice)
