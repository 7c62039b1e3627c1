import type { Theme } from 'vitepress'
import DefaultTheme from 'vitepress/theme'
import { h } from 'vue'
import './allium.css'
import NotFound from './NotFound.vue'
import OnionPlayground from './onion/OnionPlayground.vue'

/** The addresses of headings that moved to another page or have another name, each with its address now. */
declare const __OLD_HEADINGS__: Readonly<Record<string, string>>

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'not-found': () => h(NotFound) }),
  enhanceApp({ app }) {
    app.component('OnionPlayground', OnionPlayground)
    if (typeof window !== 'undefined') leaveOldHeading()
  },
} satisfies Theme

/** Replaces the address of a heading that moved. Links of the site lead to the new one, so only the first address can be old. */
function leaveOldHeading(): void {
  const now = __OLD_HEADINGS__[location.pathname.replace(/\.html$/, '') + location.hash]
  if (now !== undefined) location.replace(now)
}
