import { layerConformance, scriptedModel } from '@allium/testing'
import { describe, it } from 'vitest'
import { budget, concurrency, content, files, injection, input, judge, output, pii, rateLimit } from '../src/index.ts'

layerConformance({ layer: () => budget({ limit: 1e6, unit: 'tokens' }), describe, it, strict: true })
layerConformance({
  name: 'guard:budget per tenant',
  layer: () => budget({ limit: 1e6, unit: 'tokens', per: 'tenant' }),
  describe,
  it,
  strict: true,
})

const suite = { describe, it, strict: true }
layerConformance({ layer: () => rateLimit({ limit: 1e6 }), ...suite })
layerConformance({
  name: 'guard:rateLimit of model calls',
  layer: () => rateLimit({ limit: 1e6, scope: 'model', per: 'tenant' }),
  ...suite,
})
layerConformance({ layer: () => concurrency({ limit: 3 }), ...suite })
layerConformance({
  name: 'guard:concurrency of turns',
  layer: () => concurrency({ limit: 3, scope: 'turn' }),
  ...suite,
})
layerConformance({
  layer: () => content({ keywords: ['nightingale'], action: 'redact', apply: ['input', 'output', 'toolResults'] }),
  ...suite,
})
layerConformance({ layer: () => files(), ...suite })
layerConformance({
  name: 'guard:files of paths',
  layer: () => files({ root: '.', args: { work: ['path'] } }),
  ...suite,
})
layerConformance({ layer: () => input({ check: () => true, toolResults: true }), ...suite })
layerConformance({ layer: () => output(() => true), ...suite })
layerConformance({ layer: () => injection({ secret: 'k' }), ...suite })
layerConformance({ layer: () => pii()[0], ...suite })
// The second layer writes the state of the first: here it stands alone, with its name.
layerConformance({
  name: 'guard:pii:calls',
  layer: () => ({ ...pii()[1], name: 'guard:pii', state: { 'guard:pii:found': { default: 0 } } }),
  ...suite,
})
layerConformance({
  layer: () =>
    judge({ model: scriptedModel(Array.from({ length: 99 }, () => '{"score": 1}')), rubric: 'All is fine.' }),
  ...suite,
})
