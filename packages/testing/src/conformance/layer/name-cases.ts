import { check, Nonconformance } from '../check.ts'
import { type LayerUnderTest, makeLayer } from './layer-under-test.ts'

export const nameCases = {
  async 'has a name, and state keys that begin with it'(options: LayerUnderTest) {
    const { name, state = {} } = makeLayer(options)
    check(
      typeof name === 'string' && name.trim() === name && name !== '',
      `A layer has a name, but this one is "${name}"`,
    )
    check(makeLayer(options).name === name, 'Each layer of a factory has the same name')
    for (const key of Object.keys(state))
      check(
        key.startsWith(name),
        `The state key "${key}" begins with the name "${name}", so that no other layer has it`,
      )
  },

  async 'tells where it belongs'({ strict = false, warn = console.warn, ...options }: LayerUnderTest) {
    const { name, order, innermost } = makeLayer(options)
    if (order !== undefined || innermost === true) return
    const message = `The layer "${name}" has no "order": agent.check() cannot find a wrong position. Name its categories: order: { is: ['…'] }.`
    if (strict) throw new Nonconformance(message)
    warn(message)
  },
}
