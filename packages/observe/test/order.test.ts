import { Agent, type Middleware } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { audit, console as consoleLayer, duration, log, onion, tools, usage } from '../src/index.ts'
import type { Layer } from './scene.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const redacts: Middleware = {
  name: 'pii',
  order: { is: ['redacts'] },
  turn: (_, next) => next(),
  model: (_, next) => next(),
  tool: (_, next) => next(),
}

function findings(...layers: Layer[]) {
  const agent = new Agent({ model: scriptedModel([]), orderCheck: 'off' })
  for (const layer of layers) agent.use(layer as Middleware)
  return agent.check().map((finding) => finding.layers)
}

describe('the order of observers', () => {
  it.each([audit({ sink() {} }), log({ logger: silent }), consoleLayer()])(
    'of what keeps or shows is inside what redacts: $name',
    (layer) => {
      expect(findings(layer, redacts)).toContainEqual(['pii', layer.name])
      expect(findings(redacts, layer)).toEqual([])
    },
  )

  it('of what keeps no text, or stands innermost, is any', () => {
    expect(findings(usage(), tools(), duration(), onion(), redacts)).toEqual([])
  })
})
