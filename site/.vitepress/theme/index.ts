import type { Theme } from 'vitepress'
import DefaultTheme from 'vitepress/theme'
import { h } from 'vue'
import './allium.css'
import NotFound from './NotFound.vue'
import OnionPlayground from './onion/OnionPlayground.vue'

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'not-found': () => h(NotFound) }),
  enhanceApp({ app }) {
    app.component('OnionPlayground', OnionPlayground)
  },
} satisfies Theme
