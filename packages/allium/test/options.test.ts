import { scriptedModel } from '@allium/testing'
import { describe, expect, test } from 'vitest'
import { Agent } from '../src/index.ts'
import { factories } from './factories.ts'

const names = Object.keys(factories)
const nameOf = (name: string) => new RegExp(`^"${name.replace('.', ':')}`)

function failure(make: () => unknown): unknown {
  try {
    make()
  } catch (error) {
    return error
  }
  return undefined
}

describe('every factory of a layer', () => {
  test.each(names)('%s refuses an option that it does not have, by its name, and lists those that it has', (name) => {
    const factory = factories[name]
    expect(failure(() => factory?.({ nonsense: 1, limit: 1 }))).toMatchObject({
      code: 'layer.config',
      message: expect.stringMatching(
        / does not know the option nonsense\. (Did you mean "\w+"\? )?Available: .*\bas\b/,
      ),
    })
  })

  test.each(names)('%s says what is missing where it is given nothing, and breaks in no other way', (name) => {
    const error = failure(() => factories[name]?.())
    if (error === undefined) return expect(error).toBeUndefined() // it needs nothing
    expect(error).toMatchObject({ code: 'layer.config', message: expect.stringMatching(nameOf(name)) })
  })

  test.each(names)('%s says so where it is given to use() uncalled', async (name) => {
    const agent = new Agent({ model: scriptedModel(['Hello.']) }).use(factories[name] as never)
    const error = await agent.run('Hi').then(
      () => undefined,
      (error) => error,
    )
    expect(error).toMatchObject({ code: 'layer.config', message: expect.stringContaining(`.use(${name}(`) })
  })
})
