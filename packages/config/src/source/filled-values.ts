import { formatPath, type Path } from './source.ts'

/** Shorter values occur in any text. */
const minLength = 4

/** Records values from the environment and their positions, so that no error repeats them. */
export class FilledValues {
  readonly #originals = new Map<string, string>()
  readonly #names = new Map<string, string>()

  /** @param original the text with its variables @param values the variables' values by name */
  note(path: Path, original: string, values: Readonly<Record<string, string>>): void {
    this.#originals.set(formatPath(path), original)
    for (const [name, value] of Object.entries(values)) if (value.length >= minLength) this.#names.set(value, name)
  }

  original(path: Path): string | undefined {
    return this.#originals.get(formatPath(path))
  }

  conceal(text: string): string {
    const longestFirst = [...this.#names].sort(([a], [b]) => b.length - a.length)
    return longestFirst.reduce((concealed, [value, name]) => concealed.replaceAll(value, `\${${name}}`), text)
  }
}
