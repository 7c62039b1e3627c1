import { layerConformance, scriptedModel } from '@allium/testing'
import { describe, it } from 'vitest'
import { cache, emulate, retry, truncate } from '../src/index.ts'

const suite = { describe, it, strict: true }
layerConformance({ layer: () => cache({ tools: ['work'] }), ...suite })
layerConformance({
  layer: () => emulate({ model: scriptedModel(Array.from({ length: 99 }, () => 'played')), tools: ['none'] }),
  ...suite,
})
layerConformance({ layer: () => retry({ tools: ['work'], when: () => true, attempts: 2 }), ...suite })
layerConformance({ layer: () => truncate(), ...suite })
