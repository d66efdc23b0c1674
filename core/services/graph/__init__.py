"""The entity graph as people explore it: neighbourhoods, links, communities. The door is `explorer.GraphExplorer`."""
