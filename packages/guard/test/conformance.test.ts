import { layerConformance } from '@allium/testing'
import { describe, it } from 'vitest'
import { budget } from '../src/index.ts'

layerConformance({ layer: () => budget({ limit: 1e6, unit: 'tokens' }), describe, it, strict: true })
layerConformance({
  name: 'guard:budget per tenant',
  layer: () => budget({ limit: 1e6, unit: 'tokens', per: 'tenant' }),
  describe,
  it,
  strict: true,
})
