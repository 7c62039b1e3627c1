import { readFileSync } from 'node:fs'
import { Converter } from 'typedoc'

/** Names each module of the API pages as programs import it: `@allium/core`, `@allium/server/client`. */
export function load(app) {
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const module of project.children ?? []) {
      const [, folder, entry] = /^([^/]+)\/src(?:\/(.+))?$/.exec(module.name) ?? []
      if (folder === undefined)
        throw new Error(`The module "${module.name}" of the API pages is no entry of a package.`)
      const { name } = JSON.parse(
        readFileSync(new URL(`../../packages/${folder}/package.json`, import.meta.url), 'utf8'),
      )
      module.name = entry === undefined ? name : `${name}/${entry}`
    }
  })
}
