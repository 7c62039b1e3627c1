// The names of this build, for tests of the contract that come from outside: `ALLIUM_ADAPT` names this module.
import { memory, model } from './packs.mjs'

const packs = new URL('packs.mjs', import.meta.url).href

export default {
  onion: { queue: { onBusy: 'queue' }, retry: (attempts) => model.retry({ attempts, delay: 1 }) },
  samples: { retry: () => model.retry() },
  state: { persist: () => memory.persist() },
  /** The module that exports a name now, by `package#name`. `moved.mjs` applies it to imports. */
  moved: {
    'allium#guard': packs,
    'allium#memory': packs,
    'allium#model': packs,
    'allium#observe': packs,
    'allium#tools': packs,
  },
}
