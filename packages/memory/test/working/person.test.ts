import { describe, expect, it } from 'vitest'
import { workingMemory } from '../../src/working/index.ts'
import { ann, annKey, person, scene, update } from './scene.ts'

/** A scene whose block a person may change, and switch off. */
function controlled(steps: Parameters<typeof scene>[0]) {
  const made = scene(steps)
  const { passages } = made.store
  const again = scene(steps, { passages }, { store: made.store })
  const remembered = workingMemory({ store: made.store, agent: 'support', schema: person, passages })
  return { ...again, passages, remembered }
}

describe('the working memory of a person', () => {
  it('is changed by the person, field by field, with its history', async () => {
    const { agent, remembered, shown } = controlled([update({ name: 'Ann', diet: 'any' }), 'Hello.', 'Beans.'])
    await agent.session({ id: 'a', principal: ann }).run('I am Ann.')
    const { version } = await remembered.read(annKey)
    const edited = await remembered.edit(annKey, { version, set: { diet: 'vegan' } })
    expect(edited).toEqual({ block: { name: 'Ann', diet: 'vegan' }, version: 2 })
    await agent.session({ id: 'b', principal: ann }).run('What shall I cook?')
    expect(shown().at(-1)).toEqual({ name: 'Ann', diet: 'vegan' })
    const changes = await remembered.changes(annKey, 10)
    expect(changes.map(({ by, block }) => [by, block.diet])).toEqual([
      ['person', 'vegan'],
      ['model', 'any'],
    ])
  })

  it('is not changed over a change of a run that the person has not seen', async () => {
    const { agent, remembered } = controlled([update({ name: 'Ann' }), 'Hello.'])
    const { version } = await remembered.read(annKey)
    await agent.session({ id: 'a', principal: ann }).run('I am Ann.')
    await expect(remembered.edit(annKey, { version, set: { name: 'Anna' } })).rejects.toMatchObject({
      code: 'store.conflict',
      message: expect.stringContaining('it has the version 1, not 0'),
    })
    expect((await remembered.read(annKey)).block).toEqual({ name: 'Ann' })
  })

  it('can begin with the person, and does not take what its schema rejects', async () => {
    const { remembered } = controlled([])
    expect(await remembered.edit(annKey, { version: 0, set: { name: 'Ann' } })).toMatchObject({ version: 1 })
    for (const edit of [{ set: { diet: 'meat' } }, { set: { color: 'red' } }, { remove: ['color'] }])
      await expect(remembered.edit(annKey, { version: 1, ...edit })).rejects.toMatchObject({ code: 'options.invalid' })
    expect(await remembered.edit(annKey, { version: 1, remove: ['name'] })).toEqual({ block: {}, version: 2 })
    expect(Object.keys(remembered.fields)).toEqual(['name', 'diet', 'trips'])
  })

  it('is neither shown nor changed while memory is off, and the tool is not offered', async () => {
    const { agent, model, remembered, passages, shown } = controlled([update({ name: 'Ann' }), 'Hello.', 'Hm.'])
    await agent.session({ id: 'a', principal: ann }).run('I am Ann.')
    await passages.setOff(annKey, 1)
    await agent.session({ id: 'b', principal: ann }).run('Who am I?')
    expect([shown().at(-1), model.requests.at(-1)?.tools]).toEqual([undefined, []])
    await expect(remembered.edit(annKey, { version: 1, set: { name: 'Anna' } })).rejects.toThrow('switched off')
    expect((await remembered.read(annKey)).block).toEqual({ name: 'Ann' })
  })

  it('is not changed by a turn that began before it was switched off', async () => {
    const { agent, remembered, passages } = controlled([update({ name: 'Ann' }), 'Sorry.'])
    agent.on('step:start', () => passages.setOff({ tenant: 'acme' }, 1))
    const { toolCalls } = await agent.session({ id: 'a', principal: ann }).run('I am Ann.')
    expect(toolCalls[0]?.result.content).toBe('Not stored: memory is switched off for this person.')
    expect((await remembered.read(annKey)).block).toEqual({})
  })

  it('needs a schema for changes', async () => {
    const { store } = controlled([])
    const bare = workingMemory({ store, agent: 'support' })
    await expect(bare.edit(annKey, { version: 0 })).rejects.toThrow('needs the schema')
  })
})
