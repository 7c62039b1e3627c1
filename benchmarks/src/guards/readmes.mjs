import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** READMEs of the packages that are installed here: they hold no key, so each that is found is a false hit. */
export function readmes(most = 4_000_000) {
  const store = new URL('../../../node_modules/.pnpm/', import.meta.url).pathname
  const texts = []
  let size = 0
  for (const one of readdirSync(store).sort()) {
    for (const text of readmesOf(join(store, one, 'node_modules'))) {
      if (size > most) return texts
      texts.push(text)
      size += text.length
    }
  }
  return texts
}

function readmesOf(folder) {
  return entries(folder).flatMap((name) => {
    const inner = name.startsWith('@') ? readmesOf(join(folder, name)) : []
    const file = entries(join(folder, name)).find((entry) => /^readme\.md$/i.test(entry))
    return file === undefined ? inner : [...inner, readFileSync(join(folder, name, file), 'utf8')]
  })
}

function entries(folder) {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
