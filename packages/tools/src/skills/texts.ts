import type { Skill } from './skill.ts'

/** The most files that the text of a skill lists. */
const maxListed = 100

/** One line for each skill, for the prompt. */
export function listOf(skills: ReadonlyMap<string, Skill>): string {
  return [...skills.values()].map(({ name, description }) => `- ${name}: ${oneLine(description)}`).join('\n')
}

/** What the model reads of a skill: its text and the names of its files. */
export function skillText({ name, body, compatibility, files }: Skill): string {
  const requirements = compatibility === undefined ? '' : `\nIt requires: ${oneLine(compatibility)}`
  return `<skill name="${name}">\n${body}\n</skill>${requirements}${fileList(files)}`
}

export function skillFileText({ name }: Skill, { file, text }: { file: string; text: string }): string {
  return `<skill-file skill="${name}" file="${file}">\n${text}\n</skill-file>`
}

function fileList(files: ReadonlyMap<string, number>): string {
  if (files.size === 0) return ''
  const listed = [...files].slice(0, maxListed).map(([file, size]) => `- ${file} (${size} bytes)`)
  const more = files.size > maxListed ? `\n… and ${files.size - maxListed} more` : ''
  return `\nFiles of this skill, which this tool reads by "file". Scripts cannot be run here.\n${listed.join('\n')}${more}`
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
