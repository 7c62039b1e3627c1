import { Agent } from '@allium/core'
import { layerConformance, scriptedModel } from '@allium/testing'
import { describe, it } from 'vitest'
import { agent, cache, emulate, function as functionTool, http, retry, truncate } from '../src/index.ts'
import { search } from '../src/search.ts'

const suite = { describe, it, strict: true }
layerConformance({ layer: () => cache({ tools: ['work'] }), ...suite })
layerConformance({
  layer: () => emulate({ model: scriptedModel(Array.from({ length: 99 }, () => 'played')), tools: ['none'] }),
  ...suite,
})
layerConformance({ layer: () => retry({ tools: ['work'], when: () => true, attempts: 2 }), ...suite })
layerConformance({ layer: () => search({ in: [() => []] }), ...suite })
layerConformance({ layer: () => truncate(), ...suite })
// These hook no scope, so there is no place that they could tell.
const anyPlace = { describe, it, warn() {} }
layerConformance({
  layer: () => functionTool({ name: 'add', description: 'Adds', jsonSchema: {}, execute: () => 3 }),
  ...anyPlace,
})
layerConformance({
  layer: () => agent({ agent: new Agent({ name: 'helper', model: scriptedModel(['Done.']) }), description: 'Helps' }),
  ...anyPlace,
})
layerConformance({ layer: () => http({ hosts: ['api.example.com'] }), ...anyPlace })
