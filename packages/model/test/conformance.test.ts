import { layerConformance, scriptedModel } from '@allium/testing'
import { describe, it } from 'vitest'
import { z } from 'zod'
import { breaker, promptCache, retry, route, selectTools, settings, structured } from '../src/index.ts'

layerConformance({ layer: () => retry(), describe, it, strict: true })
layerConformance({
  name: 'model:retry of every error',
  layer: () => retry({ when: () => true, attempts: 2 }),
  describe,
  it,
  strict: true,
})
layerConformance({ layer: () => breaker(), describe, it, strict: true })
layerConformance({
  name: 'model:breaker that opens at the first failure',
  layer: () => breaker({ threshold: 1, halfOpenAfter: 1 }),
  describe,
  it,
  strict: true,
})
layerConformance({ layer: () => settings({ defaults: { temperature: 0.5 } }), describe, it, strict: true })
layerConformance({ layer: () => route({ to: () => undefined }), describe, it, strict: true })
layerConformance({ layer: () => selectTools({ tools: ['work'] }), describe, it, strict: true })
layerConformance({
  name: 'model:selectTools by a model',
  layer: () => selectTools({ model: scriptedModel(Array.from({ length: 99 }, () => '{"tools":["work"]}')) }),
  describe,
  it,
  strict: true,
})
layerConformance({
  name: 'model:promptCache of every model',
  layer: () => promptCache({ when: () => true, minTokens: 0 }),
  describe,
  it,
  strict: true,
})
for (const show of ['early', 'checked'] as const)
  layerConformance({
    name: `model:structured, shown ${show}`,
    layer: () => structured({ schema: z.string().min(1), format: 'text', show }),
    describe,
    it,
    strict: true,
  })
