import { layerConformance } from '@allium/testing'
import { describe, it } from 'vitest'
import { console as consoleLayer, onion, usage } from '../src/index.ts'

layerConformance({ layer: () => usage(), describe, it, strict: true })
layerConformance({ layer: () => onion(), describe, it, strict: true })
layerConformance({ layer: () => consoleLayer({ write() {} }), describe, it, strict: true })
