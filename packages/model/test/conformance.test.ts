import { layerConformance } from '@allium/testing'
import { describe, it } from 'vitest'
import { retry } from '../src/index.ts'

layerConformance({ layer: () => retry(), describe, it, strict: true })
layerConformance({
  name: 'model:retry of every error',
  layer: () => retry({ when: () => true, attempts: 2 }),
  describe,
  it,
  strict: true,
})
