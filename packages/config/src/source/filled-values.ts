import { formatPath, type Path } from './source.ts'

/** Values shorter than this stand in any text. */
const minLength = 4

/** What was filled in from the environment, and where: no error repeats it. */
export class FilledValues {
  readonly #originals = new Map<string, string>()
  readonly #names = new Map<string, string>()

  /** @param original the text with its variables @param values what these are, by their names */
  note(path: Path, original: string, values: Readonly<Record<string, string>>): void {
    this.#originals.set(formatPath(path), original)
    for (const [name, value] of Object.entries(values)) if (value.length >= minLength) this.#names.set(value, name)
  }

  original(path: Path): string | undefined {
    return this.#originals.get(formatPath(path))
  }

  conceal(text: string): string {
    const longestFirst = [...this.#names].sort(([a], [b]) => b.length - a.length)
    return longestFirst.reduce((text, [value, name]) => text.replaceAll(value, `\${${name}}`), text)
  }
}
