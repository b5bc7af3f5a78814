/** The pages of the fleet as a whole. They are loaded together: few files are quicker than many, and the next page is there already. */

export { AuditPage } from './audit/audit.tsx';
export { FleetPage } from './fleet/fleet.tsx';
export { ReportsPage } from './reports/list.tsx';
export { NodeReportsPage } from './reports/of-node.tsx';
export { ReportPage } from './reports/report.tsx';
