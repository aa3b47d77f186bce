/** `echelon-verify/html/report`: writes a report in one HTML file. */

export { withJson } from './html/write-report.ts';
