import { expect, it } from 'vitest'
import { audit, console as consoleLayer, duration, log, onion, tools, usage } from '../src/index.ts'
import { metrics, trace } from '../src/otel.ts'
import { calling, type Layer, scene, tool } from './scene.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** An error of which no field can be read. */
function unreadable(): Error {
  const get = () => {
    throw new Error('unreadable')
  }
  const fields = ['stack', 'name', 'message', 'cause', 'code', 'reason', 'status']
  return Object.defineProperties(new Error('down'), Object.fromEntries(fields.map((field) => [field, { get }])))
}

const layers: [string, () => Layer][] = [
  ['audit', () => audit({ sink() {} })],
  ['console', () => consoleLayer({ write() {} })],
  ['duration', duration],
  ['log', () => log({ logger: silent, content: true })],
  ['metrics', metrics],
  ['onion', onion],
  ['tools', tools],
  ['trace', () => trace({ content: true })],
  ['usage', () => usage({ prices: {} })],
]

it.each(layers)(
  'observe.%s passes on an error that cannot be read, of a model and of a layer around a tool',
  async (_, layer) => {
    const thrown = unreadable()
    const fails = { name: 'fails', model: () => Promise.reject(thrown) }
    expect(await thrownBy(scene([], [layer(), fails]).agent.run('go'))).toBe(true)
    const breaks = { name: 'breaks', tool: () => Promise.reject(thrown) }
    const { agent } = scene([calling(['look']), 'ok'], [layer(), breaks], { tools: [tool('look')] })
    expect(await thrownBy(agent.run('go'))).toBe(true)

    /** Vitest reads the fields of an error that it compares. */
    function thrownBy(run: PromiseLike<unknown>): PromiseLike<boolean> {
      return run.then(
        () => false,
        (error) => error === thrown,
      )
    }
  },
)
