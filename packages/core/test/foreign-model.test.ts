import { describe, expect, it } from 'vitest'
import { Agent, type Middleware, type Model } from '../src/index.ts'
import { failure, turn } from './kit.ts'

/** A model of the AI SDK, by its shape. */
const foreign = { specificationVersion: 'v3', modelId: 'gpt-5', doStream() {} } as unknown as Model
const mend = { message: expect.stringContaining('"gpt-5" was given: pass fromAiSdk(model)') }

describe('a model of the AI SDK in the place of a model is refused, and the message tells the way', () => {
  it('in the options of an agent', () => {
    expect(() => new Agent({ model: foreign })).toThrow(expect.objectContaining({ code: 'agent.options', ...mend }))
  })

  it('in the options of a run', async () => {
    const { error } = await turn([], [], { run: { model: foreign } })
    expect(error).toMatchObject({ code: 'model.invalid', ...mend })
  })

  it.each([
    ['a function', Object.assign(() => foreign, { languageModel: () => foreign })],
    ['an object', { languageModel: () => foreign }],
  ])('as a provider that is %s', (_, provider) => {
    const way = expect.stringContaining('a provider of the AI SDK was given: pass fromAiSdk(provider("…"))')
    expect(() => new Agent({ model: provider as unknown as Model })).toThrow(expect.objectContaining({ message: way }))
  })

  it('from a resolver', async () => {
    const agent = new Agent({ model: 'openai/gpt-5', resolveModel: () => foreign })
    expect(await failure(agent.run('hi'))).toMatchObject({ code: 'model.invalid', ...mend })
  })

  it('in a layer', async () => {
    const sets: Middleware = {
      name: 'sets',
      model(ctx, next) {
        ctx.setModel(foreign)
        return next()
      },
    }
    const { error } = await turn(['no'], [sets])
    expect(error).toMatchObject({ code: 'model.invalid', ...mend })
  })
})
