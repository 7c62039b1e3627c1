// Run with `--import`: modules outside of `packages/` find the exports that have moved, as `moved` of adapt.mjs says.
import { register } from 'node:module'
import adapt from './adapt.mjs'

register('./moved-hooks.mjs', import.meta.url, { data: adapt.moved })
