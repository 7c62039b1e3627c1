import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Agent, type Middleware } from '@allium/core'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { onTestFinished } from 'vitest'
import { type SkillsOptions, skills } from '../../src/skills.ts'

export type SkillsFolder = Awaited<ReturnType<typeof skillsFolder>>

/** A new folder with one skill, `refunds`, and a file outside it. It is deleted after the test. */
export async function skillsFolder() {
  const home = await mkdtemp(join(tmpdir(), 'allium-skills-'))
  onTestFinished(() => rm(home, { recursive: true }))
  const dir = join(home, 'skills')
  const secret = join(home, 'secret.txt')
  await writeFile(secret, 'the key')

  async function put(path: string, content: string | Uint8Array) {
    await mkdir(dirname(join(dir, path)), { recursive: true })
    await writeFile(join(dir, path), content)
  }
  await put(
    'refunds/SKILL.md',
    skillFile('refunds', 'Decides refunds. Use for money back.', 'Look up the order first.'),
  )
  await put('refunds/references/limits.md', 'Up to 50 euros.')

  function agentWith(steps: ScriptedStep[], options: Partial<SkillsOptions> = {}, layers: Middleware[] = []) {
    const model = scriptedModel(steps)
    const stack = [...layers, skills({ dir, ...options })] as Middleware[]
    return { agent: new Agent({ model, instructions: 'Be kind.' }).use(stack), model }
  }
  /** The result of one call of the tool. */
  async function resultOf(args: Record<string, unknown>, options: Partial<SkillsOptions> = {}) {
    const { toolCalls } = await agentWith([readSkill(args), 'Done.'], options).agent.run('go')
    return toolCalls[0]?.result
  }
  /** The code and message of the error of `init()`, without the folder's own path. */
  async function startError(options: Partial<SkillsOptions> = {}) {
    const failed = agentWith(['Hi.'], options).agent.init()
    return failed.then(
      () => undefined,
      (error: Error & { code: string }) => ({ code: error.code, message: error.message.replaceAll(home, '') }),
    )
  }
  return { home, dir, secret, put, agentWith, resultOf, startError }
}

export const skillFile = (name: string, description: string, body = 'Do it.', more = '') =>
  `---\nname: ${name}\ndescription: ${description}\n${more}---\n\n${body}\n`

export const readSkill = (args: Record<string, unknown>) => ({ toolCalls: [{ name: 'read_skill', args }] })
