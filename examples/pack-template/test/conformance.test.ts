import { layerConformance } from '@allium/testing'
import { describe, it } from 'vitest'
import { maxWords } from '../src/index.ts'

const suite = { describe, it, strict: true }
layerConformance({ layer: () => maxWords({ words: 100 }), ...suite })
layerConformance({ name: 'acme:maxWords that cuts', layer: () => maxWords({ words: 2 }), ...suite })
