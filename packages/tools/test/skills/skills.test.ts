import { rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Agent, type Middleware } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { beforeEach, describe, expect, it } from 'vitest'
import { flow } from '../../../guard/src/flow/flow.ts'
import { promptCache } from '../../../observe/src/prompt-cache.ts'
import { type SkillsOptions, skills } from '../../src/skills.ts'
import { readSkill, type SkillsFolder, skillFile, skillsFolder } from './scene.ts'

let folder: SkillsFolder
beforeEach(async () => {
  folder = await skillsFolder()
})

describe('the prompt', () => {
  it('has names and descriptions after the instructions, and no text of a skill', async () => {
    await folder.put(
      'returns/SKILL.md',
      skillFile('returns', '>\n  Plans returns.\n  Use for parcels.', 'Print a label.'),
    )
    const { agent, model } = folder.agentWith(['Hi.'])
    await agent.run('Hello')
    const [instructions, catalog, input] = model.requests[0]?.messages ?? []
    expect([instructions?.content, input?.content, catalog?.role]).toEqual(['Be kind.', 'Hello', 'system'])
    expect(String(catalog?.content).split('\n').slice(1)).toEqual([
      '- refunds: Decides refunds. Use for money back.',
      '- returns: Plans returns. Use for parcels.',
    ])
  })

  it('stays the same from call to call, so the watch of the prompt cache reports nothing', async () => {
    const events: unknown[] = []
    const steps = [readSkill({ skill: 'refunds' }), 'One.', 'Two.']
    const { agent, model } = folder.agentWith(steps, {}, [promptCache() as Middleware])
    agent.on('observe:prompt_cache', (event) => events.push(event))
    const session = agent.session()
    await session.run('a')
    await session.run('b')
    expect(model.requests.map(({ messages }) => messages[1])).toEqual(Array(3).fill(model.requests[0]?.messages[1]))
    expect(events).toEqual([])
  })

  it('has no catalog in a call in which another layer hides the tool', async () => {
    const hides: Middleware = {
      name: 'hides',
      model(ctx, next) {
        ctx.removeTools('read_skill')
        return next()
      },
    }
    const { agent, model } = folder.agentWith(['Hi.'], {}, [hides])
    await agent.run('Hello')
    expect(model.requests[0]?.messages.map(({ content }) => content)).toEqual(['Be kind.', 'Hello'])
  })

  it('has the skills of "include" only, and none that only users may start', async () => {
    await folder.put('returns/SKILL.md', skillFile('returns', 'Plans returns.'))
    await folder.put('deploy/SKILL.md', skillFile('deploy', 'Deploys.', 'Go.', 'disable-model-invocation: true\n'))
    const { agent, model } = folder.agentWith(['Hi.'], {
      dir: pathToFileURL(folder.dir),
      include: ['returns', 'deploy'],
    })
    await agent.run('Hello')
    expect(model.requests[0]?.tools[0]?.jsonSchema).toMatchObject({ properties: { skill: { enum: ['returns'] } } })
    expect(model.requests[0]?.messages[1]?.content).not.toMatch(/refunds|deploy/)
  })
})

describe('the tool', () => {
  it('returns the text of a skill with the list of its files, and then a file', async () => {
    const read = [readSkill({ skill: 'refunds' }), readSkill({ skill: 'refunds', file: 'references/limits.md' }), 'Ok.']
    const { toolCalls } = await folder.agentWith(read).agent.run('Refund it')
    const [text, file] = toolCalls.map(({ result }) => result.content)
    expect(text).toContain('<skill name="refunds">\nLook up the order first.\n</skill>')
    expect(text).toContain('- references/limits.md (15 bytes)')
    expect(file).toBe('<skill-file skill="refunds" file="references/limits.md">\nUp to 50 euros.\n</skill-file>')
  })

  it('returns the text of a skill for the file SKILL.md, which models ask for', async () => {
    const byFile = await folder.resultOf({ skill: 'refunds', file: 'SKILL.md' })
    expect(byFile).toMatchObject({ status: 'ok', content: (await folder.resultOf({ skill: 'refunds' }))?.content })
  })

  it.each([
    '../returns/SKILL.md',
    'references/../../../secret.txt',
    '/etc/hostname',
    'references\\limits.md',
    '.env',
    'references/none.md',
    'references',
    42,
  ])('does not read the file %s, which is no file of the skill', async (file) => {
    await folder.put('returns/SKILL.md', skillFile('returns', 'Plans returns.'))
    await folder.put('refunds/.env', 'KEY=1')
    const result = await folder.resultOf({ skill: 'refunds', file })
    expect([result?.status, result?.content]).toEqual([
      'error',
      'The file cannot be read: it is no file of this skill.',
    ])
  })

  it('does not follow a link that replaced a file after the start', async () => {
    const { agent } = folder.agentWith([readSkill({ skill: 'refunds', file: 'references/limits.md' }), 'Ok.'])
    await agent.init()
    await rm(join(folder.dir, 'refunds/references/limits.md'))
    await symlink(folder.secret, join(folder.dir, 'refunds/references/limits.md'))
    const { toolCalls } = await agent.run('go')
    expect(toolCalls[0]?.result.content).toBe('The file cannot be read: it leads out of the folder.')
  })

  it('does not read a file that is too large, no text, or deleted', async () => {
    await folder.put('refunds/large.md', 'x'.repeat(2_001))
    await folder.put('refunds/logo.png', new Uint8Array([137, 80, 78, 71, 0, 255]))
    const steps = ['large.md', 'logo.png', 'references/limits.md'].map((file) => readSkill({ skill: 'refunds', file }))
    const { agent } = folder.agentWith([...steps, 'Ok.'], { maxBytes: 2_000 })
    await agent.init()
    await rm(join(folder.dir, 'refunds/references'), { recursive: true })
    const { toolCalls } = await agent.run('go')
    expect(toolCalls.map(({ result }) => result.content)).toEqual([
      'The file cannot be read: it is larger than 2000 bytes.',
      'The file cannot be read: it is not text in UTF-8.',
      'The file cannot be read: it does not exist.',
    ])
  })

  it('names the skills when the model asks for another one', async () => {
    const result = await folder.resultOf({ skill: 'constructor' })
    expect([result?.status, result?.content]).toEqual(['error', 'There is no such skill. The skills are: refunds.'])
  })
})

describe('labels for guard.flow', () => {
  async function statusOfSend(options: Partial<SkillsOptions>) {
    const send = { name: 'send', description: 'Sends', jsonSchema: {}, flow: { sends: true }, execute: () => 'sent' }
    const steps = [readSkill({ skill: 'refunds' }), { toolCalls: [{ name: 'send' }] }, 'Done.']
    const agent = new Agent({ model: scriptedModel(steps), tools: [send] })
    return (
      await agent
        .use(flow())
        .use(skills({ dir: folder.dir, ...options }))
        .run('go')
    ).status
  }

  it("the text of the application's own folder is trusted", async () => {
    expect(await statusOfSend({})).toBe('completed')
  })

  it('the text of a folder that is declared as untrusted is not trusted, so a send waits for a person', async () => {
    expect(await statusOfSend({ flow: { untrusted: true, private: true } })).toBe('suspended')
  })

  it('no name or description of an untrusted folder is in the prompt: the tool lists them', async () => {
    const { agent, model } = folder.agentWith([readSkill({}), 'Ok.'], { flow: { untrusted: true } })
    const { toolCalls } = await agent.run('go')
    expect(JSON.stringify([model.requests[0]?.messages, model.requests[0]?.tools])).not.toContain('refunds')
    expect(toolCalls[0]?.result.content).toBe('- refunds: Decides refunds. Use for money back.')
  })
})

it('refuses options that it cannot use', () => {
  const make = (options: object) => () => skills(options as SkillsOptions)
  expect(make({})).toThrow('needs the option dir')
  expect(make({ dir: ' ' })).toThrow('needs a "dir"')
  expect(make({ dir: 'x', folder: 'x' })).toThrow('does not know the option folder')
  expect(make({ dir: 'x', maxBytes: 0 })).toThrow('maxBytes')
  expect(make({ dir: 'x', flow: { untrustd: true } })).toThrow('untrustd')
})
