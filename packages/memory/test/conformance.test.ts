import { memoryStore } from '@allium/store'
import { layerConformance } from '@allium/testing'
import { describe, it } from 'vitest'
import { z } from 'zod'
import { compact, persist, plan } from '../src/index.ts'
import { working } from '../src/working/index.ts'

const suite = { describe, it, strict: true }
layerConformance({ layer: () => persist(), ...suite })
layerConformance({ layer: () => compact()[0], ...suite })
layerConformance({
  name: 'memory:compact that clears all it may',
  layer: () => compact({ strategy: 'clear', trigger: { tokens: 1 }, results: { keep: 0, marker: '' } })[0],
  ...suite,
})
layerConformance({ layer: () => compact()[1], ...suite })
layerConformance({ layer: () => plan(), ...suite })
layerConformance({
  layer: () => working({ schema: z.object({ name: z.string().optional() }), store: memoryStore() }),
  ...suite,
})
