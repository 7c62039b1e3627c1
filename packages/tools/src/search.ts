export { search, type ToolsSearch } from './search/search.ts'
export type { SearchFunction, SearchOptions } from './search/search-options.ts'
