/**
 * The configurations with which somebody can begin: files, a service, a package, each for Linux and for Windows. They use
 * what comes with DSC, as far as it has a resource for it, and what else a machine needs stands in the first lines.
 */

export const SYSTEMS = ['Linux', 'Windows'] as const;
export type System = (typeof SYSTEMS)[number];

export interface Example {
  /** The name of its configuration, unless somebody gives it another one. */
  name: string;
  label: string;
  /** What a machine has afterwards. */
  about: Record<System, string>;
  /** The document of the entry point. */
  documents: Record<System, string>;
}

const SCHEMA = '$schema: https://aka.ms/dsc/schemas/v3/bundled/config/document.json';

const FILES: Example = {
  name: 'files',
  label: 'Files',
  about: {
    Linux: 'A text file /etc/hawser-hello.txt with one line.',
    Windows: 'A text file C:\\ProgramData\\hawser-hello.txt with one line.',
  },
  documents: {
    Linux: `# A file with one line. DSC has no resource for files yet, so a script does it.
# The machine needs PowerShell 7 (pwsh). An agent in the mode Monitor tests only; in the mode Remediate it sets too.
${SCHEMA}
parameters:
  line:
    type: string
    defaultValue: This machine has what it should.
resources:
  - name: hello file
    type: Microsoft.DSC.Transitional/PowerShellScript
    properties:
      input: "[parameters('line')]"
      getScript: |
        param($line)
        Get-Content -Path /etc/hawser-hello.txt -ErrorAction SilentlyContinue
      testScript: |
        param($line)
        (Get-Content -Path /etc/hawser-hello.txt -TotalCount 1 -ErrorAction SilentlyContinue) -ceq $line
      setScript: |
        param($line)
        Set-Content -Path /etc/hawser-hello.txt -Value $line
`,
    Windows: `# A file with one line. DSC has no resource for files yet, so a script does it, in the PowerShell of Windows.
# An agent in the mode Monitor tests only; in the mode Remediate it sets too.
${SCHEMA}
parameters:
  line:
    type: string
    defaultValue: This machine has what it should.
resources:
  - name: hello file
    type: Microsoft.DSC.Transitional/WindowsPowerShellScript
    properties:
      input: "[parameters('line')]"
      getScript: |
        param($line)
        Get-Content -Path C:\\ProgramData\\hawser-hello.txt -ErrorAction SilentlyContinue
      testScript: |
        param($line)
        (Get-Content -Path C:\\ProgramData\\hawser-hello.txt -TotalCount 1 -ErrorAction SilentlyContinue) -ceq $line
      setScript: |
        param($line)
        Set-Content -Path C:\\ProgramData\\hawser-hello.txt -Value $line
`,
  },
};

const SERVICE: Example = {
  name: 'service',
  label: 'A service',
  about: {
    Linux: 'The service cron is running. Give another name as its parameter.',
    Windows: 'The service W32Time is running, and starts by itself.',
  },
  documents: {
    Linux: `# A service of systemd is running. The machine needs PowerShell 7 (pwsh). On Red Hat the service is crond.
# An agent in the mode Monitor tests only; in the mode Remediate it sets too.
${SCHEMA}
parameters:
  service:
    type: string
    defaultValue: cron
resources:
  - name: service
    type: Microsoft.DSC.Transitional/PowerShellScript
    properties:
      input: "[parameters('service')]"
      getScript: |
        param($service)
        systemctl is-active $service
      testScript: |
        param($service)
        systemctl is-active --quiet $service
        $LASTEXITCODE -eq 0
      setScript: |
        param($service)
        systemctl enable --now $service
        if ($LASTEXITCODE -ne 0) { throw "systemctl enable ended with $LASTEXITCODE" }
`,
    Windows: `# The clock service of Windows is running, and starts by itself. The machine needs DSC 3.2.
# An agent in the mode Monitor tests only; in the mode Remediate it sets too.
${SCHEMA}
parameters:
  service:
    type: string
    defaultValue: W32Time
resources:
  - name: service
    type: Microsoft.Windows/Service
    properties:
      name: "[parameters('service')]"
      startType: Automatic
      status: Running
`,
  },
};

const PACKAGE: Example = {
  name: 'package',
  label: 'A package',
  about: {
    Linux: 'The package curl is installed by apt.',
    Windows: 'The package 7zip.7zip is installed by winget.',
  },
  documents: {
    Linux: `# A package is installed. The machine needs apt, as Debian and Ubuntu have it.
# An agent in the mode Monitor tests only; in the mode Remediate it sets too.
${SCHEMA}
parameters:
  package:
    type: string
    defaultValue: curl
resources:
  - name: package
    type: DSC.PackageManagement/Apt
    properties:
      packageName: "[parameters('package')]"
      _exist: true
`,
    Windows: `# A package is installed. The machine needs winget 1.11 or later, which brings this resource.
# An agent in the mode Monitor tests only; in the mode Remediate it sets too.
${SCHEMA}
parameters:
  package:
    type: string
    defaultValue: 7zip.7zip
resources:
  - name: package
    type: Microsoft.WinGet/Package
    properties:
      id: "[parameters('package')]"
      source: winget
      _exist: true
`,
  },
};

export const EXAMPLES: readonly Example[] = [FILES, SERVICE, PACKAGE];
