import {
  type AnyTool,
  defineMiddleware,
  layerOptions,
  misconfigured,
  option,
  type TypedMiddleware,
  toolResult,
} from '@allium/core'
import { readSkills } from './skills/folder.ts'
import type { Skill } from './skills/skill.ts'
import { readSkillFile } from './skills/skill-files.ts'
import { listOf, skillFileText, skillText } from './skills/texts.ts'

export interface SkillsOptions {
  /**
   * The folder of the skills: each folder in it has a `SKILL.md`. A path is relative to the working directory; a URL is
   * `new URL('../skills', import.meta.url)`.
   */
  dir: string | URL
  /** The only skills that the model may use, by name. @default all in the folder */
  include?: readonly string[] | undefined
  /** The maximum size of one file in bytes. A larger `SKILL.md` is an error at start, and another file cannot be read. @default 100_000 */
  maxBytes?: number | undefined
  /**
   * Labels of the folder for `guard.flow`. `untrusted` is for a folder that others may write to: names and descriptions are then left out
   * of the prompt, and the tool lists them. @default none, because the text is the application's own
   */
  flow?: { readonly untrusted?: boolean | undefined; readonly private?: boolean | undefined } | undefined
  /** The tool's name. @default 'read_skill' */
  name?: string | undefined
  /** The layer's name. @default 'tools:skills' */
  as?: string | undefined
}

const readOptions = layerOptions<SkillsOptions>('tools:skills', {
  dir: option.required(option.any, 'the folder with a folder for each skill'),
  include: option.some(option.text),
  maxBytes: option.number({ above: 0 }),
  flow: option.shape<NonNullable<SkillsOptions['flow']>>({ untrusted: option.flag, private: option.flag }),
  name: option.text,
})

/**
 * Gives the model Agent Skills: folders with a `SKILL.md`. Their names and descriptions are in the prompt, and a tool returns the text of
 * a skill and the files in its folder when the model asks for them.
 *
 * Use it for instructions that only some tasks need. The folder is read once, when the first agent with this layer starts. Files outside
 * a skill's folder cannot be read, not even through links, and scripts are never run. It needs Node.js.
 *
 * @throws AlliumError `layer.config` for invalid options; from `init()` for a folder or a `SKILL.md` that breaks the specification
 * @example
 * agent.use(skills({ dir: new URL('../skills', import.meta.url) }))
 */
export function skills(given: SkillsOptions): TypedMiddleware<{}> {
  const options = readOptions(given)
  const { dir, include, maxBytes = 100_000, flow = {}, name = 'read_skill', as = 'tools:skills' } = options
  if (!(dir instanceof URL) && (typeof dir !== 'string' || dir.trim() === ''))
    throw misconfigured(as, 'needs a "dir": a path or a file: URL of the folder with a folder for each skill.')
  const isUntrusted = flow.untrusted === true
  /** All agents with this layer have the same skills. After an error, the next `init()` reads the folder again. */
  let reading: Promise<ReadonlyMap<string, Skill>> | undefined
  let catalog: string | undefined

  return defineMiddleware({
    name: as,
    order: { is: ['shapes'] },
    async agent(ctx, next) {
      reading ??= readSkills({ layer: as, dir, include, maxBytes })
      const known = await reading.catch((error) => {
        reading = undefined
        throw error
      })
      if (!isUntrusted) catalog = catalogOf(known, name)
      ctx.registerTool(skillTool({ name, flow, known, maxBytes }))
      await next()
    },
    model(ctx, next) {
      const isOffered = ctx.request.tools.some((tool) => tool.name === name)
      if (isOffered && catalog !== undefined) ctx.addSystemMessage(catalog)
      return next()
    },
  })
}

function catalogOf(known: ReadonlyMap<string, Skill>, tool: string): string {
  return `You have skills: instructions for certain tasks. When a task fits the description of a skill, call "${tool}" with its name before you begin, and follow its text.\n${listOf(known)}`
}

interface SkillToolSettings {
  readonly name: string
  readonly flow: NonNullable<SkillsOptions['flow']>
  readonly known: ReadonlyMap<string, Skill>
  readonly maxBytes: number
}

function skillTool({ name, flow, known, maxBytes }: SkillToolSettings): AnyTool {
  const { untrusted = false, private: isPrivate = false } = flow
  return {
    name,
    description: untrusted
      ? 'Returns the instructions of a skill, or a file in its folder. Without a skill, it lists all skills with their descriptions.'
      : 'Returns the instructions of a skill, or a file in its folder that they refer to.',
    flow: { ...(untrusted && { untrusted }), ...(isPrivate && { private: isPrivate }) },
    jsonSchema: schemaOf(untrusted ? undefined : [...known.keys()]),
    onInterrupted: 'retry',
    async execute(args: Record<string, unknown>) {
      const { skill: wanted, file } = args
      if (untrusted && wanted === undefined) return listOf(known)
      const skill = typeof wanted === 'string' ? known.get(wanted) : undefined
      if (skill === undefined) return refuse(`There is no such skill. The skills are: ${[...known.keys()].join(', ')}.`)
      if (file === undefined || file === 'SKILL.md') return skillText(skill)
      const read = await readSkillFile(skill, file, maxBytes)
      return 'problem' in read ? refuse(`The file cannot be read: it ${read.problem}.`) : skillFileText(skill, read)
    },
  }
}

const refuse = (content: string) => toolResult({ content, isError: true })

/** The names are only part of the schema if they are trusted. */
function schemaOf(names: readonly string[] | undefined) {
  return {
    type: 'object',
    properties: {
      skill: { type: 'string', description: 'The name of the skill', ...(names !== undefined && { enum: names }) },
      file: { type: 'string', description: 'A file in the folder of the skill, such as references/prices.md' },
    },
    required: names === undefined ? [] : ['skill'],
    additionalProperties: false,
  }
}
