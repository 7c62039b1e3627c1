#!/usr/bin/env bash
# esbuild 0.28.2 with --splitting: a module is imported with import() alone, so it should load later. An index re-exports another name of it,
# which no program uses, and the package says "sideEffects": false. The program then imports the module's chunk at once. In a package with an
# index, one unused line undoes what import() was written for. Rollup 4.68.7 makes the same program without that import.
# Seen on 2026-11-29. Write the type of such an export, or give it an entry of its own.
# Output: "esbuild: at once" and "rollup: later". Fails if that changes.
set -euo pipefail
cd "$(mktemp -d)"
echo '{ "private": true, "type": "module", "sideEffects": false }' > package.json
npm install --no-audit --no-fund --loglevel=error esbuild@0.28.2 rollup@4.68.7
cat > report.js <<'JS'
export const write = () => 'a large report'
export const title = () => 'a title'
JS
echo "export const report = async () => (await import('./report.js')).write()" > job.js
cat > index.js <<'JS'
export { report } from './job.js'
export { title } from './report.js'
JS
echo "import { report } from './index.js'; console.log(await report())" > app.js
npx esbuild app.js --bundle --splitting --format=esm --outdir=esbuild --log-level=error
npx rollup app.js --dir rollup --format es --silent
when() { if grep -q '^import ' "$1/app.js"; then echo "$1: at once"; else echo "$1: later"; fi; }
output=$(when esbuild; when rollup)
echo "$output"
[ "$output" = $'esbuild: at once\nrollup: later' ]
