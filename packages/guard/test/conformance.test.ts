import { layerConformance, scriptedModel } from '@allium/testing'
import { describe, it } from 'vitest'
import {
  approve,
  budget,
  concurrency,
  content,
  files,
  flow,
  injection,
  input,
  judge,
  maxModelCalls,
  maxToolCalls,
  output,
  pii,
  policy,
  rateLimit,
  timeout,
} from '../src/index.ts'

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
  layer: () => content({ keywords: ['nightingale'], onFinding: 'redact', apply: ['input', 'output', 'toolResults'] }),
  ...suite,
})
layerConformance({ layer: () => files(), ...suite })
layerConformance({
  name: 'guard:files of paths',
  layer: () => files({ root: '.', pathArgs: { work: ['path'] } }),
  ...suite,
})
layerConformance({ layer: () => input({ check: () => true, apply: ['input', 'toolResults'] }), ...suite })
layerConformance({ layer: () => output(() => true), ...suite })
layerConformance({ layer: () => flow(), ...suite })
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
layerConformance({ layer: () => approve({ tools: ['none'] }), ...suite })
layerConformance({
  name: 'guard:approve by a handler',
  layer: () => approve({ handler: () => true, remember: true }),
  ...suite,
})
layerConformance({
  layer: () => policy({ deny: ['*_delete'], rules: [{ tool: 'work', roles: ['staff'] }] }),
  ...suite,
  principal: { roles: ['staff'] },
})
layerConformance({ layer: () => maxModelCalls({ limit: 1e6 }), ...suite })
layerConformance({
  name: 'guard:maxModelCalls of a session',
  layer: () => maxModelCalls({ limit: 1e6, per: 'session' }),
  ...suite,
})
layerConformance({ layer: () => maxToolCalls({ limit: 1e6 }), ...suite })
layerConformance({
  name: 'guard:maxToolCalls of a session',
  layer: () => maxToolCalls({ limit: 1e6, per: 'session' }),
  ...suite,
})
layerConformance({ layer: () => timeout({ turn: 1e9, model: 1e9, chunk: 1e9, tool: 1e9 }), ...suite })
