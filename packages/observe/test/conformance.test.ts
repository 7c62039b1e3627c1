import { layerConformance } from '@allium/testing'
import { describe, it } from 'vitest'
import { audit, console as consoleLayer, duration, log, onion, tools, usage } from '../src/index.ts'
import { promptCache } from '../src/prompt-cache.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }

layerConformance({ layer: () => usage(), describe, it, strict: true })
layerConformance({ layer: () => onion(), describe, it, strict: true })
layerConformance({ layer: () => promptCache(), describe, it, strict: true })
layerConformance({ layer: () => consoleLayer({ write() {} }), describe, it, strict: true })
layerConformance({ layer: () => tools(), describe, it, strict: true })
layerConformance({ layer: () => duration(), describe, it, strict: true })
layerConformance({ layer: () => audit({ sink() {} }), describe, it, strict: true })
layerConformance({
  name: 'observe:audit that goes on',
  layer: () => audit({ sink() {}, onError: 'allow', content: true }),
  describe,
  it,
  strict: true,
})
layerConformance({ layer: () => log({ logger: silent, content: true }), describe, it, strict: true })
