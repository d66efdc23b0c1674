"""Concord's frame: who am I, navigation by role, run the page. Nothing else."""

import streamlit as st

from core.access import allowed
from pages.ui import flash, identity, style
from pages.ui.components import shortcuts
from pages.ui.menu import PAGES

st.set_page_config(page_title="Concord", page_icon=str(style.ASSETS / "concord.png"), layout="wide")
style.page_style()
st.logo(str(style.ASSETS / "wordmark.png"), size="large", icon_image=str(style.ASSETS / "concord.png"))

me = identity.me()
menu = {
    section: [
        st.Page(f"pages/{name}.py", title=title, icon=icon, default=name == "home")
        for name, title, icon, action in pages
        if allowed(me, action)
    ]
    for section, pages in PAGES.items()
}
page = st.navigation({section: pages for section, pages in menu.items() if pages}, expanded=True)
identity.foot()
shortcuts.mount()
page.run()
flash.show()
