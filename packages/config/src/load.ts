import { createLoader } from './load-config.ts'

/**
 * Reads a config and gives its agent, which has not begun: `.use()` still works. A path is trusted, for a file may hold code;
 * an object may name packs only, unless the caller says otherwise. This one knows no packs and resolves no model
 * names: `allium/config` has one that does.
 *
 * @throws AlliumError `config.*`, with file, line and column
 * @example
 * const agent = await loadConfig('allium.config.yml', { model })
 */
export const loadConfig = createLoader()
