import { type Path, tellPath } from './source.ts'

/** Values shorter than this stand in any text. */
const shortest = 4

/** What was filled in from the environment, and where: no error repeats it. */
export class Filled {
  readonly #written = new Map<string, string>()
  readonly #names = new Map<string, string>()

  /** @param written the text with its variables @param values what these are, by their names */
  note(path: Path, written: string, values: Readonly<Record<string, string>>): void {
    this.#written.set(tellPath(path), written)
    for (const [name, value] of Object.entries(values)) if (value.length >= shortest) this.#names.set(value, name)
  }

  written(path: Path): string | undefined {
    return this.#written.get(tellPath(path))
  }

  concealed(text: string): string {
    const longestFirst = [...this.#names].sort(([a], [b]) => b.length - a.length)
    return longestFirst.reduce((told, [value, name]) => told.replaceAll(value, `\${${name}}`), text)
  }
}
