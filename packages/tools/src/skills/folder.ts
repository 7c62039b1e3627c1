import { messageOf, misconfigured } from '@allium/core'
import { checkPath } from '@allium/shared/file-paths'
import { parseSkill } from './frontmatter.ts'
import { loadNode } from './node.ts'
import type { Skill } from './skill.ts'
import { listFiles } from './skill-files.ts'
import { readText } from './text-file.ts'

export interface FolderOptions {
  readonly layer: string
  readonly dir: string | URL
  readonly include: readonly string[] | undefined
  readonly maxBytes: number
}

const maxSkills = 200
/** The most problems that one error lists. */
const maxProblems = 20

/**
 * Reads all skills of a folder, sorted by name. Files beside them, hidden folders and `node_modules` do not count.
 * @throws AlliumError `layer.config`, with the path of the folder or file that is wrong
 */
export async function readSkills(options: FolderOptions): Promise<ReadonlyMap<string, Skill>> {
  const { layer, include } = options
  const root = await rootOf(options)
  const names = await skillNames(layer, root)
  const missing = include?.find((name) => !names.includes(name))
  if (missing !== undefined)
    throw misconfigured(
      layer,
      `found no skill "${missing}" in "${root}", which "include" names. It has: ${names.join(', ')}.`,
    )
  const skills = new Map<string, Skill>()
  const problems: string[] = []
  for (const name of include === undefined ? names : names.filter((one) => include.includes(one))) {
    const skill = await readSkill(options, root, name)
    if ('problem' in skill) problems.push(`- ${skill.file} ${skill.problem}`)
    else if (!skill.isForUsersOnly) skills.set(skill.name, skill)
  }
  if (problems.length > 0)
    throw misconfigured(layer, `cannot use skills in "${root}":\n${problems.slice(0, maxProblems).join('\n')}`)
  if (skills.size > 0) return skills
  throw misconfigured(
    layer,
    `found no skill for the model in "${root}". Add a folder with a SKILL.md, or remove the layer.`,
  )
}

async function rootOf({ layer, dir }: FolderOptions): Promise<string> {
  const { fs, path, url } = loadNode()
  try {
    return await fs.realpath(dir instanceof URL ? url.fileURLToPath(dir) : path.resolve(dir))
  } catch (cause) {
    throw misconfigured(
      layer,
      `cannot open its folder "${dir}": ${messageOf(cause)}. Set "dir" to a folder that exists.`,
    )
  }
}

async function skillNames(layer: string, root: string): Promise<string[]> {
  const entries = await loadNode()
    .fs.readdir(root, { withFileTypes: true })
    .catch((error: unknown): never => {
      throw misconfigured(layer, `cannot list "${root}": ${messageOf(error)}. Set "dir" to a folder.`)
    })
  const folders = entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
  const names = folders.map(({ name }) => name).filter((name) => !name.startsWith('.') && name !== 'node_modules')
  if (names.length > maxSkills)
    throw misconfigured(
      layer,
      `found ${names.length} folders in "${root}", and ${maxSkills} skills are the maximum. Split them among several agents.`,
    )
  return names.sort()
}

async function readSkill({ maxBytes }: FolderOptions, root: string, name: string): Promise<Skill | SkillProblem> {
  const folder = await checkPath(name, { root, maxBytes })
  if ('problem' in folder)
    return { file: name, problem: `${folder.problem}. Rename it, or put the folder itself there instead of a link.` }
  const file = `${name}/SKILL.md`
  const read = await readText(folder.path, 'SKILL.md', maxBytes)
  if ('problem' in read)
    return { file, problem: `${read.problem}. Each folder in "dir" needs a SKILL.md; move others elsewhere.` }
  const parsed = parseSkill(read.text, name)
  if ('problem' in parsed) return { file, problem: parsed.problem }
  const listed = await listFiles(folder.path)
  if ('problem' in listed) return { file: `${name}/${listed.file}`, problem: listed.problem }
  return { ...parsed, folder: folder.path, files: listed.files }
}

/** A problem that continues the path of a file or folder and says what to do. */
interface SkillProblem {
  readonly file: string
  readonly problem: string
}
