import { isMap, isScalar, isSeq, parseDocument, type YAMLMap } from 'yaml'

/** The fields of a SKILL.md that Allium uses. */
export interface Frontmatter {
  readonly name: string
  readonly description: string
  readonly compatibility: string | undefined
  /** `disable-model-invocation: true`, a common extension: only a user may start the skill. */
  readonly isForUsersOnly: boolean
}

export type ParsedSkill = (Frontmatter & { readonly body: string }) | { readonly problem: string }

const pattern = /^---[ \t]*\r?\n(?<yaml>(?:[\s\S]*?\n)?)---[ \t]*(?:\r?\n|$)/

/**
 * Parses a SKILL.md by the specification of Agent Skills (agentskills.io/specification). Fields that it does not know are ignored. A
 * problem continues the sentence "the file …" and says what to do.
 */
export function parseSkill(source: string, folderName: string): ParsedSkill {
  const text = source.replace(/^\uFEFF/, '')
  const match = pattern.exec(text)
  if (match === null)
    return {
      problem: 'has no frontmatter. Begin it with a line "---", then name and description in YAML, then a line "---".',
    }
  const fields = parseYaml(match.groups?.yaml ?? '')
  if (typeof fields === 'string') return { problem: fields }
  const read = new FieldReader(fields)
  const name = read.text('name', 64, true)
  const description = read.text('description', 1_024, true)
  const compatibility = read.text('compatibility', 500)
  read.text('license', 1_024)
  read.textMap('metadata')
  read.texts('allowed-tools')
  if (name !== undefined) read.check(namePattern.test(name), `has the name ${JSON.stringify(name)}. ${nameRule}`)
  if (name !== undefined)
    read.check(name === folderName, `has the name "${name}", but its folder is "${folderName}". Rename one of them.`)
  if (read.problem !== undefined || name === undefined || description === undefined)
    return { problem: read.problem ?? 'has no name.' }
  const isForUsersOnly = read.text('disable-model-invocation', 5) === 'true'
  const body = text.slice(match[0].length).trim()
  if (body === '') return { problem: 'has no text after its frontmatter. Write the instructions there.' }
  return { name, description, compatibility, isForUsersOnly, body }
}

const namePattern = /^[a-z0-9]+(?:-[a-z0-9]+)*$/
const nameRule = 'Use lowercase letters, digits and single hyphens between them.'

/** All values are texts, as in `version: 1.0`. Aliases are not resolved, so a small text stays small. */
function parseYaml(yaml: string): YAMLMap | string {
  const doc = parseDocument(yaml, { schema: 'failsafe', prettyErrors: false, logLevel: 'silent' })
  const [error] = doc.errors
  if (error !== undefined) {
    const line = yaml.slice(0, error.pos[0]).split('\n').length + 1
    return `has invalid YAML in line ${line}: ${error.message}. Put a value with a colon or a # in quotes.`
  }
  return isMap(doc.contents)
    ? doc.contents
    : 'has frontmatter without fields. Write "name: …" and "description: …" in it.'
}

/** Reads fields and remembers the first problem. */
class FieldReader {
  problem: string | undefined

  constructor(readonly fields: YAMLMap) {}

  check(isRight: boolean, problem: string): void {
    if (!isRight) this.problem ??= problem
  }

  text(key: string, maxLength: number, isRequired = false): string | undefined {
    const value = textOf(this.fields.get(key, true))?.trim()
    if (!this.fields.has(key)) {
      this.check(!isRequired, `has no "${key}" in its frontmatter. Add "${key}: …".`)
      return undefined
    }
    this.check(value !== undefined && value !== '', `has a "${key}" that is not a text. Write it as "${key}: …".`)
    const { length } = [...(value ?? '')]
    this.check(
      length <= maxLength,
      `has a "${key}" of ${length} characters, and ${maxLength} are the maximum. Shorten it.`,
    )
    return value
  }

  /** A text, or a list of texts. */
  texts(key: string): void {
    const value = this.fields.get(key, true)
    const isList = isSeq(value) && value.items.every((item) => textOf(item) !== undefined)
    const isTexts = value === undefined || isList || textOf(value) !== undefined
    this.check(isTexts, `has a "${key}" that is neither a text nor a list of texts.`)
  }

  textMap(key: string): void {
    const value: unknown = this.fields.get(key, true)
    this.check(value === undefined || isMap(value), `has "${key}" that is no map. Write its fields indented below it.`)
  }
}

function textOf(value: unknown): string | undefined {
  return isScalar(value) && typeof value.value === 'string' ? value.value : undefined
}
