/** The look of a report: on a screen, dark or light, on a phone, and on paper. */
export const REPORT_STYLE = `
:root{color-scheme:light dark;--ground:#f5f6f8;--surface:#fff;--text:#14171f;--quiet:#555d6e;--line:#dfe2e9;--accent:#2b50d8;--bad:#b3241c}
@media (prefers-color-scheme:dark){:root{--ground:#101217;--surface:#181b22;--text:#e8eaf0;--quiet:#a3aabb;--line:#2f3440;--accent:#8fa8ff;--bad:#ff9089}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--text);font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
header,main,footer{max-width:1100px;margin:0 auto;padding:16px 20px}
h1{font-size:1.6rem;line-height:1.25;margin:8px 0}
h2{font-size:1.15rem;margin:0 0 8px}
h3{font-size:1rem;margin:12px 0 4px}
p{margin:4px 0 8px}
section{background:var(--surface);border:1px solid var(--line);border-radius:8px;padding:16px;margin:0 0 16px}
.quiet,footer{color:var(--quiet)}
.bad{color:var(--bad)}
code{font-size:.9em}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(130px,1fr));gap:12px;margin:12px 0 0}
.figures div{background:var(--surface);border:1px solid var(--line);border-radius:8px;padding:10px 12px}
.figures dt,.facts dt{color:var(--quiet);font-size:.875rem}
.figures dd{margin:0;font-size:1.35rem;font-weight:600}
.facts{display:grid;grid-template-columns:minmax(110px,max-content) 1fr;gap:4px 16px;margin:0}
.facts dd{margin:0}
.rows{overflow-x:auto}
.rows:focus-visible{outline:2px solid var(--accent)}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;overflow-wrap:normal}
caption{text-align:left;color:var(--quiet);padding-bottom:4px}
th,td{text-align:left;padding:5px 10px 5px 0;border-bottom:1px solid var(--line);vertical-align:top}
thead th{color:var(--quiet);font-size:.875rem;font-weight:600;white-space:nowrap}
tbody th,tfoot th{font-weight:400;overflow-wrap:anywhere;width:30%;min-width:140px}
tfoot th,tfoot td{font-weight:600}
.number{text-align:right;white-space:nowrap}
.bar{width:40%;min-width:40px}
.bar span{display:block;height:.7em;margin-top:.45em;border-radius:2px;background:var(--accent);print-color-adjust:exact;-webkit-print-color-adjust:exact}
.pictures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(240px,100%),1fr));gap:16px;list-style:none;margin:0;padding:0}
figure{margin:0}
figure img,.gone{display:block;width:100%;aspect-ratio:4/3;object-fit:contain;background:var(--ground);border:1px solid var(--line);border-radius:4px}
.gone{display:grid;place-items:center;padding:12px;text-align:center;color:var(--quiet)}
figcaption{font-size:.875rem;margin-top:4px}
figcaption b,figcaption .quiet{display:block}
ul.examples{margin:0;padding-left:20px}
@media (max-width:30rem){header,main,footer{padding:12px}.facts{grid-template-columns:1fr;gap:0}.facts dd{margin-bottom:8px}.pictures{grid-template-columns:1fr 1fr;gap:12px}tbody th,tfoot th{min-width:106px}}
@media print{@page{margin:14mm}:root{color-scheme:light;--ground:#fff;--surface:#fff;--text:#000;--quiet:#444;--line:#bbb;--accent:#2b50d8;--bad:#900}body{font-size:11pt}header,main,footer{max-width:none;padding:0}section{border:0;padding:8px 0}.rows{overflow:visible}figure,tr,.figures div{break-inside:avoid}h2,h3,h2+.quiet{break-after:avoid}.figures{grid-template-columns:repeat(6,1fr);gap:6px}.pictures{grid-template-columns:repeat(3,1fr)}}
`;
