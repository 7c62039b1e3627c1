import { checkPath } from '@allium/shared/file-paths'
import { loadNode } from './node.ts'
import type { Skill } from './skill.ts'
import { readText } from './text-file.ts'

const maxFiles = 1_000
const maxDepth = 8

/** The files in the folder of a skill, or the first one with a problem. */
export type FileList =
  | { readonly files: ReadonlyMap<string, number> }
  | { readonly file: string; readonly problem: string }

/** Lists the files in the folder of a skill, sorted, without its SKILL.md, hidden files and `node_modules`. */
export async function listFiles(folder: string): Promise<FileList> {
  const { fs } = loadNode()
  const files = new Map<string, number>()
  const folders = ['']
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    const entries = await fs.readdir(`${folder}/${at}`, { withFileTypes: true })
    for (const entry of entries) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue
      const path = at === '' ? entry.name : `${at}/${entry.name}`
      if (entry.isDirectory()) {
        if (path.split('/').length > maxDepth)
          return { file: path, problem: `is nested too deeply: ${maxDepth} levels are the maximum. Move it up.` }
        folders.push(path)
        continue
      }
      const found = await checkFile(folder, path)
      if ('problem' in found) return { file: path, problem: found.problem }
      if (path !== 'SKILL.md') files.set(path, found.size)
      if (files.size > maxFiles)
        return { file: '', problem: `has more than ${maxFiles} files. Keep files that no text refers to elsewhere.` }
    }
  }
  return { files: new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1))) }
}

async function checkFile(folder: string, path: string): Promise<{ size: number } | { problem: string }> {
  const checked = await checkPath(path, { root: folder, maxBytes: Number.POSITIVE_INFINITY })
  if ('problem' in checked) return { problem: `${checked.problem}. Remove or rename it.` }
  const stats = await loadNode().fs.stat(checked.path)
  return stats.isFile() ? { size: stats.size } : { problem: 'is a link to a folder. Put the folder itself there.' }
}

/** Reads a file of a skill for the model. Only listed files can be read, and each is checked again, because it may have changed. */
export async function readSkillFile(skill: Skill, file: unknown, maxBytes: number) {
  if (typeof file !== 'string' || !skill.files.has(file)) return { problem: 'is no file of this skill' }
  const read = await readText(skill.folder, file, maxBytes)
  return 'problem' in read ? read : { file, text: read.text }
}
