import { layerConformance } from '@allium/testing'
import { describe, it } from 'vitest'
import { budget, concurrency, rateLimit } from '../src/index.ts'

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
