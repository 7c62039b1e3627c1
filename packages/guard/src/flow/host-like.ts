/**
 * Endings of names with a dot that are not top-level domains, mostly file extensions. Names with any other ending in letters count
 * as hosts, so that links cannot lead to a new top-level domain.
 */
const fileExtensions = new Set(
  (
    'bak bat bib bin bmp bz2 cfg cjs class conf config cpp cs csproj css csv cts cxx dart dat db deb diff dll dmg doc docx dockerfile ' +
    'editorconfig ejs elm env eps erl ex exe exs fs gif gitignore go gradle graphql groovy gz h hcl hpp hs htm html http ico ics ini ipynb ' +
    'iso jar jpeg jpg js json jsonc jsonl jsx kts less lib lock log lua mdx mjs mkv msi mts njk npmrc ods odt ogg ' +
    'parquet patch pdf php pkl png ppt pptx prisma proto psd pyc rb rmd rst rtf sass sbt scala scss sln sql sqlite ' +
    'svelte svg swift sys tar tex tgz tif tiff tmp toml ts tsx ttf txt vb vbs vue wasm wav webm webp wmv woff ' +
    'xls xlsx xml xsd xslt yaml yml'
  ).split(' '),
)

/** Whether a linkifier with any list of top-level domains could read a dotted name, or its beginning, as a host. */
export function isHostLike(name: string): boolean {
  if (/www\./i.test(name) || /\d(?:\.\d{1,3}){3}/.test(name)) return true
  const labels = name.split('.')
  return labels.some((label, i) => i > 0 && isTopLevel(label) && endsBefore(labels[i + 1]))
}

function isTopLevel(label: string): boolean {
  const plain = label.replace(/\p{Cf}/gu, '').toLowerCase()
  if (plain.startsWith('xn--')) return true
  const letters = /^[-_]*(\p{L}[\p{L}\p{M}]+)(?![\p{N}-])/u.exec(plain)?.[1]
  return letters !== undefined && !fileExtensions.has(letters)
}

/** A name continues with letters and digits. Any other character may begin markup. */
function endsBefore(label: string | undefined): boolean {
  return label === undefined || !/^[\p{L}\p{N}]/u.test(label)
}
